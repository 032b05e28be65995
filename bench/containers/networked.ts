// Starts the compose files, and one container per role, in a network of their own, so that the ports of the files are free.
import { createChecklist } from '../harness/checklist.ts'
import { checkCompose } from './compose.ts'
import { checkRoles } from './roles.ts'

const { check, finish } = createChecklist()
await checkCompose(check)
await checkRoles(check)
finish()
