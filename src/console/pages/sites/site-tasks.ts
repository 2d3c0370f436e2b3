// Defines the tasks of the sites page; each has a dialog.

export type SiteTask =
  | { readonly kind: 'new-region' }
  | { readonly kind: 'new-location'; readonly regionId: number | undefined }
  | {
      readonly kind: 'edit-region' | 'delete-region' | 'edit-location' | 'delete-location' | 'silence-location'
      readonly id: number
    }

export type StartTask = (task: SiteTask) => void
