// Writes the documentation as files: every page as HTML and Markdown, its pictures, and the index for language models. usage: bin/site.ts FOLDER [URL]
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { operations } from '../packages/contract/src/index.ts'
import { openApiDocument } from '../packages/contract/src/openapi.ts'
import { movedPaths, movedTo, readGuides, siteAddress } from '../packages/server/src/edges/docs-site/guides.ts'
import { iconSource } from '../packages/server/src/edges/docs-site/layout.ts'
import { llmsFullText, llmsText } from '../packages/server/src/edges/docs-site/reference/llms.ts'
import { createSite } from '../packages/server/src/edges/docs-site/site.ts'

/** The files by their path. `url` is the address that the pages are served at. A page without a server has no requests to try and no search. */
export function siteFiles(url: string, version: string): Map<string, string> {
  const document = openApiDocument({ serverUrl: url, version }, operations)
  const guides = readGuides()
  const site = createSite(document, guides, { hasServer: false })
  const files = new Map<string, string>()
  for (const path of site.paths()) {
    files.set(join('docs', path, 'index.html'), site.page(path) ?? '')
    const markdown = site.markdown(path)
    if (markdown !== null) files.set(join('docs', `${path === '' ? 'index' : path}.md`), markdown)
  }
  for (const path of movedPaths()) {
    const target = siteAddress(movedTo(path) ?? '')
    files.set(join('docs', path, 'index.html'), `<!doctype html><title>Moved</title><meta http-equiv="refresh" content="0; url=${target}">`)
  }
  files.set(join('docs', 'icon.svg'), iconSource)
  files.set('openapi.json', JSON.stringify(document))
  files.set('llms.txt', llmsText(document, guides))
  files.set('llms-full.txt', llmsFullText(document, guides))
  return files
}

if (import.meta.main) {
  const [folder, url = 'http://localhost:8080'] = process.argv.slice(2)
  if (folder === undefined) throw new Error('The folder is missing: bin/site.ts FOLDER [URL]')
  for (const [path, text] of siteFiles(url, '0.1.0')) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  cpSync(join(import.meta.dirname, '..', 'docs', 'images'), join(folder, 'docs', 'images'), { recursive: true })
}
