// Requests that `fetch` would not send.
import { connect } from 'node:net'

/** Writes the text to a socket and gives back everything that comes until the server closes it. */
export const rawRequest = (port: number, text: string) =>
  new Promise<string>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text))
    let answer = ''
    socket.on('data', (chunk) => {
      answer += chunk
    })
    socket.on('close', () => resolve(answer))
    socket.on('error', reject)
  })
