// Defines the security headers of every HTML page. [contract 9.files]

/** Strict-Transport-Security is not sent: it would force HTTPS on every port and service of the host, which only its owner can decide. */
export const pageHeaders = (contentSecurityPolicy: string): Record<string, string> => ({
  'Content-Security-Policy': contentSecurityPolicy,
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), microphone=(), geolocation=()',
})
