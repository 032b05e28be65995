// The reference of the simulator, which exists on servers without a real mail transport, phone or iMessage provider.
import type { OperationDetails } from '../operation-details.ts'

const number = '+12125550123'

export const simulatorDetails: Record<string, OperationDetails> = {
  simulateMail: {
    description:
      'Delivers a message as an external mail server would, with sender checks, mail rules, flags and events. Use it to test an agent without an account elsewhere. `sample` sends a prepared message that tries to deceive. `409 conflict` has the reply of the mail server when it refuses the message. It exists while `CALLSIGN_MAIL_TRANSPORT` is `simulator`.',
    keys: 'organization',
    body: { to: 'sales', from: 'Ada Park <ada@people.example>', subject: 'A question', text: 'Do you ship to Norway?' },
    sdk: 'const { message_id } = await callsign.simulator.mail($body)',
    cli: "callsign sim mail 'Do you ship to Norway?' --to sales --from ada@people.example --subject 'A question'",
  },
  simulateSms: {
    description:
      'Sends a text to a simulated number, as a phone outside would. It takes the path of a real callback, with signature, storage and events. Use it to test sign-ups with codes.',
    keys: 'organization',
    body: { to: number, from: '+16502530000', text: 'Your code is 492816' },
    sdk: 'const { message_id } = await callsign.simulator.sms($body)',
    cli: `callsign sim sms "Your code is 492816" --to ${number} --from +16502530000`,
  },
  advanceNumber: {
    description: 'Ends the pending status of a simulated number, which real providers do after minutes or days.',
    keys: 'organization',
    params: { id: number },
    body: { to: 'ready' },
    sdk: 'const number = await callsign.simulator.advanceNumber($id, $body)',
    cli: `callsign sim advance ${number}`,
  },
  setFault: {
    description:
      'Makes the next calls of a simulated provider fail, so that you can test how your program handles failures. It returns every pending fault. `times: 0` removes one.',
    keys: 'organization',
    body: { provider: 'phone', op: 'order', fail: 'timeout', times: 1 },
    sdk: 'const { faults } = await callsign.simulator.setFault($body)',
    cli: 'callsign sim fault phone order timeout --times 1',
  },
  listOutbox: {
    description: 'Returns the messages that agents have sent to simulated phones, newest first.',
    keys: 'organization',
    query: { to: '+14155550123', limit: 20 },
    sdk: 'const page = await callsign.simulator.outbox($query)',
    cli: 'callsign sim outbox --to +14155550123',
  },
  simulateImessage: {
    description:
      'Sends a message to the router line, as a phone outside would. The text `connect @sales` starts a conversation with the agent sales. `effect` is the effect of the message.',
    keys: 'organization',
    body: { from: '+14155550123', text: 'connect @sales' },
    reply: { effect: 'connected', message_id: null },
    sdk: 'const { conversation_id } = await callsign.simulator.imessage($body)',
    cli: 'callsign sim imessage "connect @sales" --from +14155550123',
  },
}
