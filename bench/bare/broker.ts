// The baseline of our MQTT side: aedes as published, which accepts every login and stores nothing.
import { type AddressInfo, createServer } from 'node:net'
import { Aedes } from 'aedes'

const broker = await Aedes.createBroker({ authenticate: (_client, _username, _password, done) => done(null, true) })
const server = createServer((socket) => {
  // Our server sets this too: with Nagle's algorithm acknowledgements would wait for each other.
  socket.setNoDelay(true)
  broker.handle(socket)
})
server.listen({ host: '127.0.0.1', port: 0 }, () => {
  process.stdout.write(`listening on ${(server.address() as AddressInfo).port}\n`)
})
process.once('SIGTERM', () => process.exit(0))
