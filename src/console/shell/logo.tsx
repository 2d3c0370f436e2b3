// The logo of Roomkeeper: a door that stands ajar.
export const Logo = ({ size = 28 }: { readonly size?: number }) => (
  <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true" focusable="false">
    <rect width="32" height="32" rx="8" fill="#12606f" />
    <path d="M9 25V8.500L19 6v21L9 25Z" fill="#fff" />
    <path d="M19 9h4v16h-4" fill="none" stroke="#fff" strokeWidth="2.2" strokeLinejoin="round" />
    <circle cx="16" cy="16.5" r="1.5" fill="#12606f" />
  </svg>
)
