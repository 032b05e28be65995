// The tools, prompts and resources that the conformance suite calls. They are the suite's own fixtures, served by the MCP edge of the product.
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  fromJsonSchema,
  inputRequired,
  inputResponse,
  McpServer,
  ResourceTemplate,
  type ServerContext,
  type ServerNotifier,
} from '@modelcontextprotocol/server'

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const wav = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA='
const codec = createRequestStateCodec<{ round: number }>({ key: Buffer.alloc(32, 7) })
const none = { type: 'object' as const, properties: {} }

// biome-ignore lint/suspicious/noExplicitAny: fixtures take schemas and results of every shape.
type Any = any
const textOf = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] })
const asksFor = (message: string, name: string, type: string) =>
  inputRequired.elicit({ message, requestedSchema: { type: 'object', properties: { [name]: { type } }, required: [name] } as Any })
const image = { type: 'image' as const, data: png, mimeType: 'image/png' }
const contentOf = (context: ServerContext, key: string): Any => {
  const answer = inputResponse(context.mcpReq.inputResponses, key)
  return answer.kind === 'elicit' && answer.action === 'accept' && typeof answer.content === 'object' ? answer.content : null
}
const capabilitiesOf = (context: ServerContext): Any => (context.mcpReq.envelope as Any)?.[CLIENT_CAPABILITIES_META_KEY] ?? {}

/** A server with every fixture. */
export function createFixtureServer(notify: ServerNotifier): McpServer {
  const server = new McpServer(
    { name: 'fixtures', version: '1' },
    { capabilities: { logging: {} }, requestState: { verify: codec.verify } },
  )
  addContentTools(server)
  addInputTools(server)
  addNotifyingTools(server, notify)
  addPrompts(server)
  addResources(server)
  return server
}

function add(server: McpServer, name: string, run: (args: Any, context: ServerContext) => Any, schema: object = none): void {
  server.registerTool(name, { description: `Fixture ${name}.`, inputSchema: fromJsonSchema(schema as Any) }, run as Any)
}

function addContentTools(server: McpServer): void {
  const resource = (uri: string, mimeType: string, text: string) => ({ type: 'resource' as const, resource: { uri, mimeType, text } })
  add(server, 'test_simple_text', () => textOf('This is a simple text response for testing.'))
  add(server, 'test_image_content', () => ({ content: [image] }))
  add(server, 'test_audio_content', () => ({ content: [{ type: 'audio', data: wav, mimeType: 'audio/wav' }] }))
  add(server, 'test_embedded_resource', () => ({
    content: [resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
  }))
  add(server, 'test_multiple_content_types', () => ({
    content: [
      { type: 'text', text: 'Multiple content types test:' },
      image,
      resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ],
  }))
  add(server, 'test_error_handling', () => {
    throw new Error('This tool intentionally returns an error for testing')
  })
  add(server, 'test_missing_capability', () => inputRequired({ inputRequests: { greeting: sampling('Generate a greeting', 50) } }))
  add(server, 'test_custom_headers', ({ region }) => textOf(`region ${region}`), {
    type: 'object',
    properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
  })
  add(server, 'json_schema_2020_12_tool', () => textOf('ok'), {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: { address: { $anchor: 'addressDef', type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
    properties: {
      name: { type: 'string' },
      address: { $ref: '#/$defs/address' },
      contactMethod: { type: 'string', enum: ['phone', 'email'] },
      phone: { type: 'string' },
      email: { type: 'string' },
    },
    allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
    if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
    then: { required: ['phone'] },
    else: { required: ['email'] },
    additionalProperties: false,
  })
}

const sampling = (text: string, maxTokens: number) =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens })

function addInputTools(server: McpServer): void {
  const answered = (context: ServerContext, ...keys: string[]) =>
    keys.every((key) => inputResponse(context.mcpReq.inputResponses, key).kind !== 'missing')
  const name = () => asksFor('What is your name?', 'name', 'string')
  const prefix = 'test_input_required_result_'
  add(server, `${prefix}elicitation`, (_args, context) => {
    const given = contentOf(context, 'user_name')?.name
    return typeof given === 'string' ? textOf(`Hello, ${given}!`) : inputRequired({ inputRequests: { user_name: name() } })
  })
  add(server, `${prefix}sampling`, (_args, context) => {
    const answer = inputResponse(context.mcpReq.inputResponses, 'capital_question')
    if (answer.kind === 'sampling') return textOf(JSON.stringify(answer.result.content))
    return inputRequired({ inputRequests: { capital_question: sampling('What is the capital of France?', 100) } })
  })
  add(server, `${prefix}list_roots`, (_args, context) => {
    const answer = inputResponse(context.mcpReq.inputResponses, 'client_roots')
    if (answer.kind === 'roots') return textOf(answer.roots.map(({ uri }) => uri).join(' '))
    return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } })
  })
  const confirming = async (_args: Any, context: ServerContext) =>
    context.mcpReq.requestState() && answered(context, 'confirm')
      ? textOf('state-ok')
      : inputRequired({
          inputRequests: { confirm: asksFor('Please confirm', 'ok', 'boolean') },
          requestState: await codec.mint({ round: 1 }),
        })
  add(server, `${prefix}request_state`, confirming)
  add(server, `${prefix}tampered_state`, confirming)
  add(server, `${prefix}multiple_inputs`, async (_args, context) =>
    answered(context, 'user_name', 'greeting', 'client_roots')
      ? textOf('All inputs are here.')
      : inputRequired({
          inputRequests: { user_name: name(), greeting: sampling('Generate a greeting', 50), client_roots: inputRequired.listRoots() },
          requestState: await codec.mint({ round: 1 }),
        }),
  )
  add(server, `${prefix}multi_round`, async (_args, context) => {
    const round = context.mcpReq.requestState<{ round: number }>()?.round ?? 0
    if (round === 1 && answered(context, 'step1'))
      return inputRequired({
        inputRequests: { step2: asksFor('Step 2: What is your favorite color?', 'color', 'string') },
        requestState: await codec.mint({ round: 2 }),
      })
    if (round === 2 && answered(context, 'step2')) return textOf('All rounds are done.')
    return inputRequired({
      inputRequests: { step1: asksFor('Step 1: What is your name?', 'name', 'string') },
      requestState: await codec.mint({ round: 1 }),
    })
  })
  add(server, `${prefix}capabilities`, (_args, context) => {
    const capabilities = capabilitiesOf(context)
    const inputRequests = {
      ...(capabilities.sampling ? { greeting: sampling('Generate a greeting', 50) } : {}),
      ...(capabilities.elicitation ? { user_name: name() } : {}),
    }
    return Object.keys(inputRequests).length > 0 ? inputRequired({ inputRequests }) : textOf('The client can answer nothing.')
  })
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

function addNotifyingTools(server: McpServer, notify: ServerNotifier): void {
  add(server, 'test_tool_with_progress', async (_args, context) => {
    const progressToken = (context.mcpReq as Any)._meta?.progressToken
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined)
        await context.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } })
      await pause(20)
    }
    return textOf('Progress is done.')
  })
  add(server, 'test_tool_with_logging', async (_args, context) => {
    for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await context.mcpReq.log('info', data)
      await pause(20)
    }
    return textOf('Logging is done.')
  })
  add(server, 'test_logging_tool', async (_args, context) => {
    await context.mcpReq.log('info', 'A log message.')
    return textOf('Logged.')
  })
  add(server, 'test_streaming_elicitation', () =>
    inputRequired({ inputRequests: { user_name: asksFor('What is your name?', 'name', 'string') } }),
  )
  add(server, 'test_trigger_tool_change', () => {
    notify.toolsChanged()
    return textOf('The tools are changed.')
  })
  add(server, 'test_trigger_prompt_change', () => {
    notify.promptsChanged()
    return textOf('The prompts are changed.')
  })
}

function addPrompts(server: McpServer): void {
  const message = (content: Any) => ({ role: 'user' as const, content })
  const say = (text: string) => message({ type: 'text', text })
  const argumentsOf = (...names: string[]) =>
    fromJsonSchema({
      type: 'object',
      properties: Object.fromEntries(names.map((one) => [one, { type: 'string' }])),
      required: names,
    } as Any)
  server.registerPrompt('test_simple_prompt', { description: 'Fixture.' }, () => ({
    messages: [say('This is a simple prompt for testing.')],
  }))
  server.registerPrompt('test_prompt_with_arguments', { description: 'Fixture.', argsSchema: argumentsOf('arg1', 'arg2') as Any }, (({
    arg1,
    arg2,
  }: Any) => ({ messages: [say(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)] })) as Any)
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'Fixture.', argsSchema: argumentsOf('resourceUri') as Any },
    (({ resourceUri: uri }: Any) => ({
      messages: [
        message({ type: 'resource', resource: { uri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' } }),
        say('Please process the embedded resource above.'),
      ],
    })) as Any,
  )
  server.registerPrompt('test_prompt_with_image', { description: 'Fixture.' }, () => ({
    messages: [message(image), say('Please analyze the image above.')],
  }))
  server.registerPrompt('test_input_required_result_prompt', { description: 'Fixture.' }, ((context: ServerContext) => {
    const given = contentOf(context, 'user_context')?.context
    if (typeof given !== 'string')
      return inputRequired({ inputRequests: { user_context: asksFor('What context should the prompt use?', 'context', 'string') } })
    return { messages: [say(`Use the context ${given}.`)] }
  }) as Any)
}

function addResources(server: McpServer): void {
  const one = (uri: string, mimeType: string, rest: object) =>
    server.registerResource(uri, uri, { mimeType, description: 'Fixture.' }, async () => ({
      contents: [{ uri, mimeType, ...rest } as Any],
    }))
  one('test://static-text', 'text/plain', { text: 'This is the content of the static text resource.' })
  one('test://static-binary', 'image/png', { blob: png })
  one('test://watched-resource', 'text/plain', { text: 'Watched.' })
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined, complete: { id: () => ['1', '2'] } })
  server.registerResource('template', template, { mimeType: 'application/json' }, async (uri, { id }) => ({
    contents: [
      { uri: uri.href, mimeType: 'application/json', text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) },
    ],
  }))
}
