// The way from the sites to a region or a location.
import { Breadcrumbs } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import classes from '../../domain/fleet/site/room-link.module.css'

export const SitesBreadcrumbs = ({
  region,
}: {
  readonly region?: { readonly id: number; readonly name: string } | undefined
}) => (
  <nav aria-label="Breadcrumb">
    <Breadcrumbs
      fz="sm"
      separator="›"
      separatorMargin={8}
      style={{ flexWrap: 'wrap' }}
      classNames={{ breadcrumb: classes.step }}
    >
      <Link to="/sites" activeOptions={{ exact: true }}>
        Sites
      </Link>
      {region && (
        <Link to="/sites/regions/$regionId" params={{ regionId: String(region.id) }}>
          {region.name}
        </Link>
      )}
    </Breadcrumbs>
  </nav>
)
