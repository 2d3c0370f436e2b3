// The metrics of all nodes of a harness: each counts what it did itself.
import { type Harness, send } from '../harness.ts'

/** The texts of all nodes, one after the other. */
export async function readMetrics({ nodeUrls }: Harness): Promise<string> {
  const texts = await Promise.all(nodeUrls.map(async (url) => (await send(url, 'GET', '/metrics')).text))
  return texts.join('\n')
}

/** The sum of a counter over all nodes. `name` is its name with its labels, as it is written in the text. */
export async function sumMetric(harness: Harness, name: string): Promise<number> {
  const lines = (await readMetrics(harness)).split('\n').filter((line) => line.startsWith(`${name} `))
  return lines.reduce((sum, line) => sum + Number(line.slice(name.length + 1)), 0)
}
