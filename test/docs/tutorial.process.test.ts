// Runs docs/tutorial.md: every command in its order, and compares what is printed with what the page shows.
import { expect, test } from 'vitest'
import { startService } from '../../src/server/app.ts'
import { makeLog } from '../../src/server/core/log.ts'
import { need } from '../support/debian.ts'
import { newPlace, quiet, TestClock } from '../support/harness.ts'
import { Tutorial } from '../support/tutorial.ts'

test('the tutorial leads from an empty server to a message about a device that failed, and back', async () => {
  need('curl')
  const place = await newPlace()
  const options = { ...quiet, ...place.place, outboundAllow: ['127.0.0.1'], settleMinutes: 0 }
  const clock = new TestClock()
  const service = await startService(options, makeLog('silent'), { clock })
  const { org = '', key = '' } = service.first ?? {}
  // The first message of an incident waits for a minute of this clock.
  const passing = setInterval(() => clock.advance(5_000), 1_000)
  const tutorial = await Tutorial.start({ url: service.url, org, key })
  try {
    let printed = ''
    let compared = 0
    for (const block of tutorial.blocks) {
      if (block.language === 'json') {
        expect(JSON.parse(printed), printed).toMatchObject(JSON.parse(block.text))
        compared++
      } else if (block.language === 'text') {
        expect(printed).toBe(block.text)
        compared++
      } else printed = await tutorial.run(block)
    }
    expect(compared).toBe(7)
  } finally {
    clearInterval(passing)
    await tutorial.stop()
    await service.close()
    await place.remove()
  }
}, 300_000)
