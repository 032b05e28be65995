// Serves the skills of this repository over MCP, by the skills extension, so that a client finds them without an installation.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { SkillCatalog } from '@modelcontextprotocol/server/ext/skills'
import { loadSkills } from '@modelcontextprotocol/server/ext/skills/node'

const folder = join(import.meta.dirname, '..', '..', '..', '..', '..', 'skills')

/** Milliseconds that a client may keep a list or a file. The skills change with the server only. */
const keptMs = 3_600_000

/** Reads the skills once. Resolves with null for an installation without the folder. */
export const readSkills = async (): Promise<SkillCatalog | null> =>
  existsSync(folder) ? loadSkills(folder, { strict: true, cacheHint: { ttlMs: keptMs, cacheScope: 'public' } }) : null
