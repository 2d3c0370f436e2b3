// Serves the page that a room's QR code opens, which shows the enrolment code. The code is in the fragment, so the server never receives it.
import type { FastifyInstance } from 'fastify'
import { pageHeaders } from '../../http/browser/page-headers.ts'
import { brand, plainStyle, sourceHash } from '../../http/browser/plain-page.ts'

const style = `${plainStyle}
output{display:block;font:600 clamp(1.6rem,8vw,2.6rem)/1.2 ui-monospace,monospace;letter-spacing:.08em;padding:1rem;margin:1.25rem 0;border:2px solid;border-radius:.75rem;text-align:center;user-select:all}
code{font-family:ui-monospace,monospace}`

const script = `
const code=decodeURIComponent(location.hash.slice(1));
if(/^[A-Za-z0-9 -]{12,20}$/.test(code)){document.querySelector('output').textContent=code.toUpperCase();document.querySelector('main').hidden=false;document.querySelector('#none').hidden=true}
document.querySelector('#server').textContent=new URL('.',location.href).href.replace(/\\/$/,'');`

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Roomkeeper: enrol a device</title>
<style>${style}</style>
</head>
<body>
<div class="card">
${brand}
<section id="none">
<h1>No enrolment code</h1>
<p>This address has no code in it. Scan the QR code of a room again, or ask someone with Write access for its code.</p>
</section>
<main hidden>
<h1>Enrol a device in this room</h1>
<output aria-label="Enrolment code"></output>
<ol>
<li>On the device, open its enrolment screen.</li>
<li>Let it scan the QR code that led you here, or type the server <code id="server"></code> and this code. Hyphens and capitals do not matter.</li>
<li>The device connects by itself and appears in the room.</li>
</ol>
<p>After its first use the code works for a limited time, usually a day. Anyone with Write access can create a new one.</p>
</main>
</div>
<script>${script}</script>
</body>
</html>`

export function enrolPage(app: FastifyInstance): void {
  app.get('/enrol', async (_request, reply) =>
    reply
      .type('text/html; charset=utf-8')
      .headers(
        pageHeaders(
          `default-src 'none'; style-src ${sourceHash(style)}; script-src ${sourceHash(script)}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
        ),
      )
      .send(page),
  )
}
