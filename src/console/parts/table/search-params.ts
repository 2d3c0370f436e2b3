// What the address says of a long list: changed in its place, so that going back leaves the list.
import { useCallback } from 'react'

type Texts = { readonly [name: string]: string | undefined }
type Navigate<S> = (to: {
  readonly search: (old: S) => S
  readonly replace: true
  readonly resetScroll: false
}) => Promise<void>

/** Sets what is named; undefined takes it out. */
export const useSearchParamsUpdate = <S extends Texts>(navigate: Navigate<S>) =>
  useCallback(
    (changes: { readonly [K in keyof S]?: string | undefined }) =>
      void navigate({ search: (old) => ({ ...old, ...changes }) as S, replace: true, resetScroll: false }),
    [navigate],
  )
