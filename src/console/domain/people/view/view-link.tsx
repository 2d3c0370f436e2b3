// The link to a saved view.
import { Link } from '@tanstack/react-router'
import { type SavedView, searchOf } from './saved-view.ts'

/** Leads to the list with the filters, the order and the columns of a view. */
export const ViewLink = ({ view, ...props }: { readonly view: SavedView }) => (
  <Link to={`/${view.page}`} search={searchOf(view) as never} {...props} />
)
