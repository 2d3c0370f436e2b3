// Follows the redirects of a sign-in as a browser does, with cookies by host and path, and no page.

interface StoredCookie {
  readonly host: string
  readonly path: string
  readonly name: string
  readonly value: string
}

/** One instance is one browser: it stays signed in at the provider until its session there ends. */
export class CookieBrowser {
  #cookies: StoredCookie[] = []

  /** Sends one request and stores the cookies of its answer. */
  async request(url: string | URL, init: RequestInit = {}): Promise<Response> {
    const target = new URL(url)
    const cookie = this.cookiesFor(target)
    const headers = { ...(init.headers as Record<string, string>), ...(cookie === '' ? {} : { cookie }) }
    const answer = await fetch(target, { ...init, headers, redirect: 'manual' })
    for (const line of answer.headers.getSetCookie()) this.#store(line, target)
    return answer
  }

  /** Follows redirects until one leads to another origin than the first, and returns its address without opening it. */
  async follow(url: string): Promise<URL> {
    let at = new URL(url)
    const { origin } = at
    for (let step = 0; step < 20; step++) {
      const answer = await this.request(at)
      const text = await answer.text()
      const location = answer.headers.get('location')
      if (location === null) throw new Error(`${at.pathname} answered ${answer.status} without a redirect: ${text}`)
      at = new URL(location, at)
      if (at.origin !== origin) return at
    }
    throw new Error(`${url} redirects without an end`)
  }

  /** Signs out at the provider, which then tells its clients over the back channel. */
  async signOut(issuer: string): Promise<void> {
    const page = await (await this.request(`${issuer}/session/end`)).text()
    const [, xsrf = ''] = /name="xsrf" value="([^"]+)"/.exec(page) ?? []
    const body = new URLSearchParams({ xsrf, logout: 'yes' })
    const answer = await this.request(`${issuer}/session/end/confirm`, { method: 'POST', body })
    if (answer.status >= 400) throw new Error(`the provider answered ${answer.status} to the sign-out`)
  }

  /** Puts a cookie for all paths of a host into the browser. */
  set(url: string, name: string, value: string): void {
    this.#store(`${name}=${value}; Path=/`, new URL(url))
  }

  cookiesFor({ hostname, pathname }: URL): string {
    return this.#cookies
      .filter(
        ({ host, path }) => host === hostname && (pathname === path || pathname.startsWith(path.replace(/\/?$/, '/'))),
      )
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ')
  }

  #store(line: string, { hostname: host }: URL): void {
    const [pair = '', ...attributes] = line.split(';').map((part) => part.trim())
    const [name = '', value = ''] = pair.split(/=(.*)/s)
    const attribute = (key: string) =>
      attributes.find((text) => text.toLowerCase().startsWith(`${key}=`))?.slice(key.length + 1)
    const path = attribute('path') ?? '/'
    this.#cookies = this.#cookies.filter((c) => !(c.host === host && c.path === path && c.name === name))
    const isExpired = attribute('max-age') === '0' || Date.parse(attribute('expires') ?? '') < Date.now()
    if (!isExpired) this.#cookies.push({ host, path, name, value })
  }
}
