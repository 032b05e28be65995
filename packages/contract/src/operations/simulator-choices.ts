// Faults and prepared messages of the simulator, without schemas, so that clients can import them.

/** Prepared mail with which to test how an agent handles deception, by name, with a title. */
export const simulatedMailSamples = {
  hidden_text: 'Instructions that readers cannot see',
  model_instructions: 'Instructions to a language model',
  fake_tool_results: 'Text that imitates the result of a tool',
  spoofed_name: 'Display name of another sender',
  lookalike_domain: "Sender whose domain looks like the agent's",
  reply_to_mismatch: 'Replies that go to another domain',
  link_mismatch: 'Link that shows another host',
  script: 'Scripts, frames and a form',
  tracking_pixel: 'Remote images that report reading',
  invisible_characters: 'Invisible and reversed characters',
  disguised_file: 'Program that is named like a document',
  huge: 'Text of 5 MB',
  mime_bomb: '2,000 parts, nested 100 levels deep',
  forged_bounce: 'Delivery report for mail that was never sent',
} as const
export type SimulatedMailSample = keyof typeof simulatedMailSamples

/** The faults that can be injected, by channel and step. */
export const simulatedFaults = {
  phone: {
    search: ['empty', 'error'],
    order: ['error', 'timeout', 'lost_answer', 'taken'],
    advance: ['error', 'rejected'],
    release: ['error'],
    webhook: ['drop', 'duplicate', 'reorder'],
  },
  imessage: {
    send: ['error', 'timeout', 'lost_answer'],
    webhook: ['drop', 'duplicate', 'reorder'],
  },
} as const

export type FaultChannel = keyof typeof simulatedFaults
