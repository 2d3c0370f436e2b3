// The types of the parts of net-snmp that the driver uses: the package has none.
declare module 'net-snmp' {
  import type { EventEmitter } from 'node:events'

  export interface Varbind {
    readonly oid: string
    readonly type: number
    readonly value: unknown
  }

  interface SessionOptions {
    readonly version: number
    readonly port: number
    readonly timeout: number
    readonly retries: number
    readonly transport: 'udp4' | 'udp6'
    readonly idBitsSize: 16 | 32
    readonly backwardsGetNexts: boolean
    readonly dgramModule: { createSocket(transport: 'udp4' | 'udp6'): unknown }
  }

  export interface User {
    readonly name: string
    readonly level: number
    readonly authProtocol?: number | undefined
    readonly authKey?: string | undefined
    readonly privProtocol?: number | undefined
    readonly privKey?: string | undefined
  }

  export interface Session extends EventEmitter {
    get(oids: readonly string[], done: (error: Error | null, varbinds?: readonly Varbind[]) => void): void
    getBulk(
      oids: readonly string[],
      nonRepeaters: number,
      maxRepetitions: number,
      done: (error: Error | null, columns?: readonly (readonly Varbind[])[]) => void,
    ): void
    close(): void
  }

  const snmp: {
    createSession(target: string, community: string, options: SessionOptions): Session
    createV3Session(target: string, user: User, options: SessionOptions): Session
    isVarbindError(varbind: Varbind): boolean
    readonly Version2c: number
    readonly Version3: number
    readonly SecurityLevel: Readonly<Record<string, number>>
    readonly AuthProtocols: Readonly<Record<string, number>>
    readonly PrivProtocols: Readonly<Record<string, number>>
    readonly ErrorStatus: Readonly<Record<string, number>>
    readonly RequestTimedOutError: new (message: string) => Error & { readonly name: 'RequestTimedOutError' }
    readonly RequestFailedError: new (message: string, status: number) => Error & { readonly status: number }
    readonly ResponseInvalidError: new (message: string, code: number) => Error & { readonly code: number }
  }
  export default snmp
}
