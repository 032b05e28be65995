// Reference texts and examples of the operations on labels.
import type { OperationDetails } from '../operation-details.ts'
import { sampleId } from '../samples.ts'

export const labelDetails: Record<string, OperationDetails> = {
  createLabel: {
    description:
      'Defines a label of a mailbox with a color, which the console and clients show. Messages and threads may have labels that are not defined. A mailbox has at most 500 labels.',
    body: { name: 'invoice', color: '#E93D82' },
    reply: { name: 'invoice', color: '#E93D82' },
    sdk: 'const label = await callsign.labels.create($email_address, $body)',
    cli: "callsign labels create invoice --color '#E93D82' --agent sales",
  },
  listLabels: {
    description: 'Returns one page of the labels of a mailbox, newest first.',
    query: { limit: 20 },
    sdk: 'const page = await callsign.labels.list($email_address, $query)',
    cli: 'callsign labels list --agent sales',
  },
  updateLabel: {
    description:
      'Changes the name or the color of a label. Messages and threads of the mailbox that have the label get its new name in the same transaction.',
    params: { label_id: sampleId('label') },
    body: { name: 'paid' },
    reply: { name: 'paid' },
    sdk: 'const label = await callsign.labels.update($email_address, $label_id, $body)',
    cli: `callsign labels update ${sampleId('label')} --name paid --agent sales`,
  },
  deleteLabel: {
    description: 'Deletes a label, and removes it from the messages and threads of the mailbox. The messages stay.',
    params: { label_id: sampleId('label') },
    sdk: 'await callsign.labels.delete($email_address, $label_id)',
    cli: `callsign labels delete ${sampleId('label')} --agent sales`,
  },
}
