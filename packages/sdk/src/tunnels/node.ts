// Finds the modules of Node that tunnels need at run time, because the package also loads in browsers, which do not have tunnels.
import { ConnectionError } from '../errors.ts'
import { nodeModule } from '../vault/crypto/bytes.ts'

/** Throws on runtimes other than Node. */
export function needNode() {
  const net = nodeModule<typeof import('node:net')>('node:net')
  const tls = nodeModule<typeof import('node:tls')>('node:tls')
  const http = nodeModule<typeof import('node:http')>('node:http')
  const stream = nodeModule<typeof import('node:stream')>('node:stream')
  const crypto = nodeModule<typeof import('node:crypto')>('node:crypto')
  if (!net || !tls || !http || !stream || !crypto)
    throw new ConnectionError('connection_failed', 'Tunnels need Node, because this runtime does not have sockets.')
  return { net, tls, http, stream, crypto }
}

export type Node = ReturnType<typeof needNode>
