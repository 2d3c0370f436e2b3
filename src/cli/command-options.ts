// The options of commands that differ from those of `serve`. Commands themselves are loaded on demand, their options are not.
import type { OptionSpec } from '../server/config/database-options.ts'
import { serveOptions } from '../server/config/options.ts'

/** The data folder ignores the variables of a real server, and only warnings are logged. */
export const demoOptions: readonly OptionSpec[] = [
  {
    flag: '--data-dir <folder>',
    env: 'ROOMKEEPER_DEMO_DIR',
    default: './demo-data',
    help: 'folder for all data of the demo; delete it to start again',
  },
  ...serveOptions
    .filter(({ flag, default: byDefault }) => byDefault !== undefined && !flag.startsWith('--data-dir'))
    .map((option) => (option.flag.startsWith('--log-level') ? { ...option, default: 'warn' } : option)),
]

export const defaultPort = Number(serveOptions.find(({ flag }) => flag.startsWith('--port '))?.default)

/** The address of the server. The options have no default here, so that the command knows whether they were given. */
export const loginLinkOptions: readonly OptionSpec[] = serveOptions
  .filter(({ flag }) => /^--(public-url|port) /.test(flag))
  .map(({ default: _, ...option }) =>
    option.flag.startsWith('--port ')
      ? {
          ...option,
          help: `port of the server on this machine (default: as the server recorded it, or ${defaultPort})`,
        }
      : option,
  )

export const copyOptions: readonly OptionSpec[] = [
  {
    flag: '--from <place>',
    env: 'ROOMKEEPER_COPY_FROM',
    help: 'data folder of the SQLite database, or postgres://…, to copy from',
  },
  { flag: '--to <place>', env: 'ROOMKEEPER_COPY_TO', help: 'empty data folder, or postgres://…, to copy to' },
  {
    flag: '--secret-key-file <file>',
    env: 'ROOMKEEPER_SECRET_KEY_FILE',
    help: 'the secret key (default: secret.key in the data folder that the server will use)',
  },
]

export const computerOptions: readonly OptionSpec[] = [
  {
    flag: '--url <url>',
    env: 'ROOMKEEPER_COMPUTER_URL',
    help: 'address of the service, such as https://rooms.example.org; needed to enrol',
    parse: parseServiceAddress,
  },
  { flag: '--code <code>', env: 'ROOMKEEPER_COMPUTER_CODE', help: 'enrolment code of a room; needed once, to enrol' },
  {
    flag: '--data-dir <folder>',
    env: 'ROOMKEEPER_COMPUTER_DATA_DIR',
    help: 'folder for the identity of this computer; it must survive a restart',
  },
  { flag: '--allow-reboot', env: 'ROOMKEEPER_COMPUTER_ALLOW_REBOOT', help: 'let people restart this computer' },
  {
    flag: '--reboot-command <command>',
    env: 'ROOMKEEPER_COMPUTER_REBOOT_COMMAND',
    help: 'program that restarts it, with arguments separated by spaces; no shell (default: systemctl reboot)',
  },
  {
    flag: '--allow-message',
    env: 'ROOMKEEPER_COMPUTER_ALLOW_MESSAGE',
    help: 'let people show messages on this computer',
  },
  {
    flag: '--message-command <command>',
    env: 'ROOMKEEPER_COMPUTER_MESSAGE_COMMAND',
    help: 'program that shows a message, which it reads from its standard input; no shell (default: notify-send)',
  },
]

function parseServiceAddress(text: string): string {
  if (/^https?:\/\//.test(text) && URL.canParse(text)) return text.replace(/\/+$/, '')
  throw new Error('--url must be an address such as https://rooms.example.org.')
}
