// The icons of the console: line drawings of 24 by 24 in the colour of the surrounding text.
import type { ReactNode } from 'react'

interface IconProps {
  readonly size?: number
}

/** Makes an icon of a drawing. */
export const icon = (drawing: ReactNode) =>
  function Icon({ size = 18 }: IconProps) {
    return (
      <svg
        width={size}
        height={size}
        viewBox="0 0 24 24"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.8"
        strokeLinecap="round"
        strokeLinejoin="round"
        aria-hidden="true"
        focusable="false"
      >
        {drawing}
      </svg>
    )
  }

export const OverviewIcon = icon(<path d="M4 13h6V4H4zM14 20h6v-9h-6zM4 20h6v-3H4zM14 7h6V4h-6z" />)
export const RoomIcon = icon(<path d="M6 20V5l9-2v18zM15 6h4v13h-4M11.5 12v.5" />)
export const DeviceIcon = icon(<path d="M3 7h18v8H3zM9 19h6M12 15v4M7 11h.01M17 11h.01" />)
export const SiteIcon = icon(
  <path d="M12 21s-7-5.7-7-11a7 7 0 0 1 14 0c0 5.3-7 11-7 11zM12 12.500a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5z" />,
)
export const ProfileIcon = icon(<path d="M4 6h9M17 6h3M4 12h3M11 12h9M4 18h11M19 18h1M15 4v4M9 10v4M17 16v4" />)
export const AuditIcon = icon(<path d="M6 3h9l4 4v14H6zM14 3v5h5M9 12h6M9 16h6" />)
export const JobIcon = icon(<path d="M4 6h4v4H4zM4 14h4v4H4zM12 8h8M12 16h8" />)
export const InsightIcon = icon(<path d="M4 20h16M7 16v-5M12 16V5M17 16V9" />)
export const PauseIcon = icon(<path d="M8 5v14M16 5v14" strokeWidth="3" />)
export const PlayIcon = icon(<path d="M7 5v14l12-7z" />)
export const UndoIcon = icon(<path d="M9 14 4 9l5-5M4 9h10a6 6 0 0 1 0 12h-3" />)
export const SettingsIcon = icon(
  <path d="M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM19 13.5l1.7 1.2-2 3.5-1.9-.8a7.5 7.5 0 0 1-2.1 1.2l-.3 2.1h-4l-.3-2.1a7.5 7.5 0 0 1-2.1-1.2l-1.9.8-2-3.5 1.7-1.2a7.6 7.6 0 0 1 0-2.9L4.1 9.3l2-3.5 1.9.8a7.5 7.5 0 0 1 2.1-1.2l.3-2.1h4l.3 2.1a7.5 7.5 0 0 1 2.1 1.2l1.9-.8 2 3.5-1.7 1.2a7.6 7.6 0 0 1 0 2.9z" />,
)
export const SearchIcon = icon(<path d="M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM15.5 15.5 20 20" />)
export const SunIcon = icon(
  <path d="M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.400M17.6 17.6 19 19M5 19l1.4-1.400M17.6 6.4 19 5" />,
)
export const MoonIcon = icon(<path d="M20 14.500A8.5 8.5 0 1 1 9.5 4a7 7 0 0 0 10.5 10.500z" />)
export const UnseenIcon = icon(
  <path d="M4 4l16 16M9.500 6.300A9 9 0 0 1 12 6c5 0 8 4 9 6a13 13 0 0 1-2.500 3.300M6.300 7.800A13 13 0 0 0 3 12c1 2 4 6 9 6a9 9 0 0 0 4.500-1.200M10 10a2.800 2.800 0 0 0 4 4" />,
)
export const UserIcon = icon(<path d="M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21a8 8 0 0 1 16 0" />)
export const PlusIcon = icon(<path d="M12 5v14M5 12h14" />)
export const EditIcon = icon(<path d="M4 20h4L19 9l-4-4L4 16zM13 7l4 4" />)
export const BinIcon = icon(<path d="M4 7h16M10 11v6M14 11v6M6 7l1 13h10l1-13M9 7V4h6v3" />)
export const RebootIcon = icon(<path d="M20 11a8 8 0 1 0-.500 4M20 5v6h-6" />)
export const PowerIcon = icon(<path d="M12 4v8M7 7a8 8 0 1 0 10 0" />)
export const MessageIcon = icon(<path d="M4 5h16v11H9l-5 4z" />)
export const DownloadIcon = icon(<path d="M12 4v11M7 11l5 5 5-5M5 20h14" />)
export const MoveIcon = icon(<path d="M4 12h15M14 7l5 5-5 5" />)
export const CopyIcon = icon(<path d="M8 8h12v12H8zM16 8V4H4v12h4" />)
export const CheckIcon = icon(<path d="M5 12.5 10 17 19 7" />)
export const CrossIcon = icon(<path d="M6 6l12 12M18 6 6 18" />)
export const WarnIcon = icon(<path d="M12 4 2.5 20h19zM12 10v4M12 17v.01" />)
/** These shapes are for states and severities, down to the dot: no button has one of them. */
export const CriticalIcon = icon(
  <path d="M8.500 3h7L21 8.500v7L15.500 21h-7L3 15.500v-7zM12 8v5M12 16.500v.01" strokeWidth="2.200" />,
)
export const OfflineIcon = icon(<path d="M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM8 12h8" strokeWidth="2.200" />)
export const FailedIcon = icon(<path d="M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM9 9l6 6M15 9l-6 6" />)
export const CancelledIcon = icon(<path d="M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM5.800 18.200 18.200 5.800" />)
export const InfoIcon = icon(<path d="M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 11v5M12 8v.01" />)
export const SkippedIcon = icon(<path d="M5 6l9 6-9 6zM18 6v12" />)
export const DotIcon = icon(<path d="M12 17a5 5 0 1 0 0-10 5 5 0 0 0 0 10z" />)
export const LockIcon = icon(<path d="M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3" />)
export const PeopleIcon = icon(
  <path d="M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM2.5 20a6.5 6.5 0 0 1 13 0M16 4.500a3.5 3.5 0 0 1 0 6.500M18 14a6.5 6.5 0 0 1 3.5 6" />,
)
export const NoteIcon = icon(<path d="M5 4h14v11l-5 5H5zM14 20v-5h5M9 9h6M9 13h3" />)
export const BellOffIcon = icon(
  <path d="M18 15V10.500a6 6 0 0 0-9.5-4.900M6.3 8.500A6 6 0 0 0 6 10.500V15l-2 2.500h13.500M10 20.500h4M4 4l16 16" />,
)
export const ClockIcon = icon(<path d="M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7v5l3.5 2" />)
export const LinkIcon = icon(
  <path d="M10 14a4 4 0 0 0 6 .500l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6-.500l-3 3a4 4 0 0 0 6 6l1-1" />,
)
export const ChevronIcon = icon(<path d="M9 5l7 7-7 7" />)
export const MoreIcon = icon(<path d="M5 12h.01M12 12h.01M19 12h.01" strokeWidth="3" />)
export const CompactIcon = icon(<path d="M4 6h16M4 10h16M4 14h16M4 18h16" />)
export const ComfortableIcon = icon(<path d="M4 6h16M4 12h16M4 18h16" />)
export const UpIcon = icon(<path d="M6 15l6-6 6 6" />)
export const DownIcon = icon(<path d="M6 9l6 6 6-6" />)
