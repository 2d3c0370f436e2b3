// What can be done to a site: the dialog that is open, and about what.

export type SiteTask =
  | { readonly kind: 'new-region' }
  | { readonly kind: 'new-location'; readonly regionId: number | undefined }
  | { readonly kind: 'rename-region' | 'delete-region' | 'change-location' | 'delete-location'; readonly id: number }

export type StartTask = (task: SiteTask) => void
