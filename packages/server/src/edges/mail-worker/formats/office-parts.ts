// The parts of an office file (ECMA-376): their kinds, and the relations between them.
import type { Archive } from './archive.ts'
import { readXml } from './xml.ts'

const contentTypesPart = '[Content_Types].xml'
/** Relations of one part. Further ones are left out. */
const relationsMax = 20_000

/** The path of the main part of a text document or workbook. Null for an archive that is neither. */
export async function findMainPart(archive: Archive): Promise<{ format: 'docx' | 'xlsx'; part: string } | null> {
  if (!archive.has(contentTypesPart)) return null
  let found: { format: 'docx' | 'xlsx'; part: string } | null = null
  await readXml(archive, contentTypesPart, {
    open(name, attribute) {
      if (found !== null || name !== 'Override') return
      const type = attribute('ContentType') ?? ''
      const part = (attribute('PartName') ?? '').replace(/^\//, '')
      if (/wordprocessingml\.(document|template)\.main\+xml|\.ms-word\.\w+\.macroEnabled(Template)?\.main\+xml/i.test(type))
        found = { format: 'docx', part }
      else if (/spreadsheetml\.(sheet|template)\.main\+xml|\.ms-excel\.\w+\.macroEnabled\.main\+xml/i.test(type))
        found = { format: 'xlsx', part }
    },
  })
  return found
}

/** The targets of the relations of a part by id. Targets inside the archive are paths in it. */
export async function readRelations(archive: Archive, part: string): Promise<Map<string, { type: string; target: string }>> {
  const slash = part.lastIndexOf('/')
  const folder = part.slice(0, slash + 1)
  const file = `${folder}_rels/${part.slice(slash + 1)}.rels`
  const relations = new Map<string, { type: string; target: string }>()
  if (!archive.has(file)) return relations
  await readXml(archive, file, {
    open(name, attribute) {
      const [id, target] = [attribute('Id'), attribute('Target')]
      if (name !== 'Relationship' || id === undefined || target === undefined || relations.size >= relationsMax) return
      const type = (attribute('Type') ?? '').split('/').at(-1) as string
      relations.set(id, { type, target: attribute('TargetMode') === 'External' ? target : resolvePart(folder, target) })
    },
  })
  return relations
}

/** The path of the first part with this type of relation. */
export const findRelated = (relations: Map<string, { type: string; target: string }>, type: string): string | null =>
  [...relations.values()].find((relation) => relation.type === type)?.target ?? null

function resolvePart(folder: string, target: string): string {
  const steps = target.startsWith('/') ? [] : folder.split('/').filter(Boolean)
  for (const step of target.split('/')) {
    if (step === '..') steps.pop()
    else if (step !== '' && step !== '.') steps.push(step)
  }
  return steps.join('/')
}
