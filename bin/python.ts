// The generated part of the Python client, from the OpenAPI document: models, resources and error hints. `npm run docs` writes it.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorSentences } from '../packages/contract/src/error-sentences.ts'
import { operations } from '../packages/contract/src/index.ts'
import { openApiDocument } from '../packages/contract/src/openapi.ts'
import { clientSource, hintsSource, modelsSource } from './python/print.ts'
import { type Method, methodsOf } from './python/resources.ts'
import { createModels } from './python/types.ts'

const folder = join(import.meta.dirname, '../packages/python/src/callsign')

function generated() {
  const document = openApiDocument({ serverUrl: 'http://localhost:8080', version: '0.1.0' }, operations)
  const models = createModels()
  for (const [name, schema] of Object.entries(document.components.schemas)) models.add(name, schema)
  return { models, methods: methodsOf(operations, document, models) }
}

/** The methods of the Python client. */
export const pythonMethods = (): Method[] => generated().methods

/** The generated files by their path below the package, with their text. */
export function pythonFiles(): Record<string, string> {
  const { models, methods } = generated()
  return {
    'models.py': modelsSource(models.sources()),
    '_hints.py': hintsSource(errorSentences as Record<string, string>),
    '_sync/resources.py': clientSource(methods, models.names(), false),
    '_async/resources.py': clientSource(methods, models.names(), true),
  }
}

/** The paths whose text is not what the contract generates. */
export const stalePythonFiles = (): string[] =>
  Object.entries(pythonFiles()).flatMap(([path, text]) => (readFileSync(join(folder, path), 'utf8') === text ? [] : [path]))

export function writePythonFiles(): void {
  for (const [path, text] of Object.entries(pythonFiles())) writeFileSync(join(folder, path), text)
}
