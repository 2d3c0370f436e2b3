// MQTT 3.1.1 frames of a device, encoded by hand.

export interface BenchDevice {
  readonly id: string
  readonly credential: string
}

const keepAliveSeconds = 300

export function encodeString(value: string): Buffer {
  const bytes = Buffer.from(value)
  return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 255]), bytes])
}

/** `firstByte` holds the packet type and its flags. The body is shorter than 16 KiB. */
export function encodeFrame(firstByte: number, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  const length = body.length < 128 ? [body.length] : [(body.length & 127) | 128, body.length >> 7]
  return Buffer.concat([Buffer.from([firstByte, ...length]), body])
}

export const connectFrame = ({ id, credential }: BenchDevice) =>
  encodeFrame(
    0x10,
    encodeString('MQTT'),
    Buffer.from([4, 0xc2, keepAliveSeconds >> 8, keepAliveSeconds & 255]),
    encodeString(id),
    encodeString(id),
    encodeString(credential),
  )
