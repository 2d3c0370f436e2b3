// What every page for people carries, so that a browser does nothing with it that it was not made for. [contract 9.files]

/** No Strict-Transport-Security: it would bind the whole host, all its ports and other services, to HTTPS. That is its owner's to say. */
export const pageHeaders = (contentSecurityPolicy: string): Record<string, string> => ({
  'Content-Security-Policy': contentSecurityPolicy,
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), microphone=(), geolocation=()',
})
