// The skills for agents have the form of agentskills.io, and name only commands and events that exist.
import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createCommandLine } from '../packages/cli/tests/command-line.ts'
import { tools } from '../packages/contract/src/tools/tool-table.ts'

const folder = join(import.meta.dirname, '..', 'skills')
const files = globSync('*/SKILL.md', { cwd: folder })
const commandLine = createCommandLine()

test('there are five', () => {
  expect(files).toHaveLength(5)
})

describe.each(files)('%s', (file) => {
  const text = readFileSync(join(folder, file), 'utf8')

  test('its name is that of its folder, and its description says when to use it', () => {
    const [, name, description = ''] = /^---\nname: ([a-z0-9-]{1,64})\ndescription: (.+)\nlicense: Apache-2\.0\n---\n/.exec(text) ?? []
    expect(name).toBe(basename(dirname(file)))
    expect(description.length).toBeLessThanOrEqual(1024)
    expect(description).toContain('Use it')
  })

  test('its commands and tools exist', async () => {
    for (const [, words = ''] of text.matchAll(/`callsign ((?:[a-z-]+ ?){1,2})/g)) {
      const { code } = await commandLine.run([...words.trim().split(' '), '--help'])
      const first = await commandLine.run([words.split(' ')[0] ?? '', '--help'])
      expect([code, first.code], words).toContain(0)
    }
    for (const [, name] of text.matchAll(/`((?:mail|sms|draft|thread)_[a-z]+)`/g)) expect(tools.map((tool) => tool.name)).toContain(name)
  })
})
