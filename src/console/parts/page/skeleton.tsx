// The skeletons of pages and of parts of pages, drawn while these load. index.html has their styles, and a skeleton of the whole console.
import type { CSSProperties } from 'react'

/** Drawn instead of the page that was open before, which must not look like the one that was asked for. */
export const PageSkeleton = () => (
  <div role="status" aria-label="Loading" style={{ display: 'grid', gap: 16 }}>
    <div className="skeleton-progress" />
    <div className="skeleton-title" />
    <div className="skeleton-panel">
      <div className="skeleton-rows" />
    </div>
  </div>
)

/** Drawn in place of a part of a page, or of the fields of a dialog. */
export const Loading = ({ rows = 3 }: { readonly rows?: number }) => (
  <div role="status" aria-label="Loading">
    <div className="skeleton-rows" style={{ '--rows': rows } as CSSProperties} />
  </div>
)
