// The look of the pages that the server makes itself, without the console: light and dark, with the logo. [contract 9.files]
import { hash } from 'node:crypto'

/** The console's colours. The page has no script, so the system decides between light and dark. */
export const plainStyle = `
:root{color-scheme:light dark;--page:#f4f6f8;--panel:#fff;--line:#d9dee5;--text:#1c2430;--dim:#5a6675;--accent:#12606f}
@media (prefers-color-scheme:dark){:root{--page:#12171d;--panel:#1a2129;--line:#323c48;--text:#e6eaef;--dim:#9aa7b5;--accent:#6cc0cf}}
body{font:16px/1.5 Inter,system-ui,sans-serif;margin:0;padding:10vh 16px;background:var(--page);color:var(--text)}
.card{max-width:36rem;margin:0 auto;padding:24px;background:var(--panel);border:1px solid var(--line);border-radius:12px}
.brand{display:flex;align-items:center;gap:10px;margin-bottom:20px;font-weight:600}
h1{font-size:22px;line-height:1.3;margin:0 0 12px}
a{color:var(--accent)}
dl{display:grid;grid-template-columns:auto 1fr;gap:4px 16px}
dt{color:var(--dim)}
dd{margin:0;overflow-wrap:anywhere}`

/** As in the console: a door that stands ajar. */
export const brand = `<div class="brand"><svg width="28" height="28" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" fill="#12606f"/><path d="M9 25V8.500L19 6v21L9 25Z" fill="#fff"/><path d="M19 9h4v16h-4" fill="none" stroke="#fff" stroke-width="2.2" stroke-linejoin="round"/><circle cx="16" cy="16.5" r="1.5" fill="#12606f"/></svg>Roomkeeper</div>`

/** Allows one style or script by its hash. */
export const sourceHash = (text: string): string => `'sha256-${hash('sha256', text, 'base64')}'`
