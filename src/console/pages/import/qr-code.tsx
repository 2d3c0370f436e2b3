// A QR code as one path, so a sheet of hundreds of codes stays small.
import { encode } from 'uqr'

interface QrCodeProps {
  readonly text: string
  readonly label: string
  readonly className?: string | undefined
}

export function QrCode({ text, label, className }: QrCodeProps) {
  // The standard asks for an empty border of four modules; the card around the code has the other two.
  const { data, size } = encode(text, { border: 2 })
  return (
    <svg
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={label}
      className={className}
      shapeRendering="crispEdges"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={data.map(rowPath).join('')} fill="#000" />
    </svg>
  )
}

/** Dark modules that touch each other are one rectangle. */
function rowPath(row: readonly boolean[], y: number): string {
  let path = ''
  for (let x = 0; x < row.length; x++) {
    const start = x
    while (row[x]) x++
    if (x > start) path += `M${start} ${y}h${x - start}v1H${start}z`
  }
  return path
}
