// Types of the part of autocannon that the benches use, because it ships without types.
declare module 'autocannon' {
  type Options = { url: string; method: string; headers: Record<string, string>; body?: string; connections: number; duration: number }
  type Result = {
    requests: { total: number }
    /** Milliseconds, whole ones. */
    latency: { p99: number }
    duration: number
    non2xx: number
    errors: number
    timeouts: number
  }
  export default function autocannon(options: Options): Promise<Result>
}
