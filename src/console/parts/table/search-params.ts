// Updates the search parameters of a list in place, without adding an entry to the browser history.
import { useCallback } from 'react'

type Texts = { readonly [name: string]: string | undefined }
type Navigate<S> = (to: {
  readonly search: (old: S) => S
  readonly replace: true
  readonly resetScroll: false
}) => Promise<void>

/** Sets the named parameters; undefined removes one. */
export const useSearchParamsUpdate = <S extends Texts>(navigate: Navigate<S>) =>
  useCallback(
    (changes: { readonly [K in keyof S]?: string | undefined }) =>
      void navigate({ search: (old) => ({ ...old, ...changes }) as S, replace: true, resetScroll: false }),
    [navigate],
  )
