// The commands of the program that the console shows, as they are typed in a package, a container and a checkout.

export interface CommandWay {
  readonly id: string
  readonly name: string
  /** A sentence that names the folder in which people type the command. */
  readonly text: string
  readonly command: string
}

const inPackage = (args: string, name = 'roomkeeper'): CommandWay => ({
  id: 'package',
  name: 'Package',
  text: `In a folder where the package ${name} is installed, with Node 24:`,
  command: `node_modules/.bin/roomkeeper ${args}`,
})

const inCheckout = (args: string): CommandWay => ({
  id: 'checkout',
  name: 'Checkout',
  text: 'In a checkout of Roomkeeper:',
  command: `npm run roomkeeper -- ${args}`,
})

interface GatewayOptions {
  readonly url: string
  readonly code: string
  readonly reach: readonly string[]
}

export function gatewayCommands({ url, code, reach }: GatewayOptions): readonly CommandWay[] {
  const argsWith = (folder: string) =>
    [`gateway --url ${url} --code ${code} --data-dir ${folder}`, ...reach.map((range) => `--reach ${range}`)].join(' ')
  const folder = '/opt/roomkeeper/data'
  return [
    {
      id: 'container',
      name: 'Container',
      text: 'With the image of Roomkeeper, in the network of the machine:',
      command: `docker run -d --name roomkeeper-gateway --restart unless-stopped --network host -v roomkeeper-gateway:${folder} roomkeeper ${argsWith(folder)}`,
    },
    inPackage(argsWith('./gateway'), 'roomkeeper-gateway'),
    inCheckout(argsWith('./gateway')),
  ]
}

/** The server starts the gateway of this room itself. */
export const gatewayOfServer = (org: string, room: string, reach: readonly string[]): CommandWay => ({
  id: 'server',
  name: 'On the server',
  text: 'On the machine of the server, if there is one server only: start it with these options in addition. The server keeps the gateway running, and no code is needed. Such a gateway reaches only the networks that are named.',
  command: [
    `roomkeeper serve --gateway ${org}/${room}`,
    ...(reach.length > 0 ? reach : ['NETWORK']).map((range) => `--gateway-reach ${range}`),
  ].join(' '),
})

/** Makes a key with all permissions. It uses the database, so it is typed on the machine of the server. */
export function keyCommands(org: string): readonly CommandWay[] {
  const args = `keys create --org ${org} --name 'My key' --scope read --scope write --manage`
  return [
    inPackage(args),
    {
      id: 'container',
      name: 'Container',
      text: 'In the folder of the compose file that runs the server:',
      command: `docker compose exec roomkeeper roomkeeper ${args}`,
    },
    inCheckout(args),
  ]
}

export function simulateCommands(org: string, url: string): readonly CommandWay[] {
  const args = `simulate --org ${org} --key YOUR-API-KEY --endpoints 20 --rooms 8 --locations 3 --regions 1 --url ${url}`
  return [inPackage(args), inCheckout(args)]
}

/** The default ports are taken if the server of this console uses them on the same machine. */
export function demoCommands(arePortsTaken: boolean): readonly CommandWay[] {
  const args = arePortsTaken ? 'demo --port 8081 --mqtt-port 1884' : 'demo'
  return [inPackage(args), inCheckout(args)]
}
