// Shows a notice while the data of the wall cannot be read, and tries again by itself: a screen on a wall has no pointer.
import { useQueryErrorResetBoundary } from '@tanstack/react-query'
import { Component, type ReactNode, Suspense, useEffect } from 'react'

const retryMs = 10_000

interface WallBoundaryProps {
  readonly notice: ReactNode
  readonly children: ReactNode
}

export function WallBoundary({ notice, children }: WallBoundaryProps) {
  const { reset } = useQueryErrorResetBoundary()
  return (
    <Boundary notice={notice} onReset={reset}>
      <Suspense>{children}</Suspense>
    </Boundary>
  )
}

class Boundary extends Component<WallBoundaryProps & { readonly onReset: () => void }, { hasFailed: boolean }> {
  override state = { hasFailed: false }

  readonly #retry = () => {
    this.props.onReset()
    this.setState({ hasFailed: false })
  }

  static getDerivedStateFromError() {
    return { hasFailed: true }
  }

  override render() {
    const { notice, children } = this.props
    return this.state.hasFailed ? <Retrying onRetry={this.#retry}>{notice}</Retrying> : children
  }
}

function Retrying({ onRetry, children }: { readonly onRetry: () => void; readonly children: ReactNode }) {
  useEffect(() => {
    const timer = setInterval(onRetry, retryMs)
    return () => clearInterval(timer)
  }, [onRetry])
  return children
}
