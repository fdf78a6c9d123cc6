import { logUsers } from './log-users.ts';
import type { LogUser, LogUserName } from './log-users.ts';

/** The block `authorization` of a nats-server's configuration. `passwordOf` gives what stands for a user's password. */
export function renderUsers(passwordOf: (user: LogUserName) => string): string {
  const users = Object.entries(logUsers).flatMap(([name, user]) => renderUser(user, passwordOf(name as LogUserName)));
  return ['authorization {', '  users: [', ...users, '  ]', '}'].join('\n');
}

function renderUser({ name, whose, rights }: LogUser, password: string): string[] {
  const login = `user: ${quote(name)}, password: ${password}`;
  if (rights === undefined) return [`    # ${whose}.`, `    { ${login} }`];
  return [
    `    # ${whose}.`,
    '    {',
    `      ${login}`,
    '      permissions: {',
    '        publish: [',
    ...rights.publish.map((subject) => `          ${quote(subject)}`),
    '        ]',
    `        subscribe: [${rights.subscribe.map(quote).join(', ')}]`,
    '      }',
    '    }',
  ];
}

/** For users whose passwords are known: as a text, whatever it begins with. */
export const quote = (text: string): string => JSON.stringify(text);

/** The file of users as compose and bare servers include it: passwords are in the server's environment. */
export function usersFile(): string {
  return [
    '# Made from shared/nats/users/log-users.ts by `npm run generate`: who may do what on the log.',
    '# Passwords come from the environment of nats-server, and begin with a letter: some words that begin with a digit are',
    '# numbers to it.',
    renderUsers((user) => `$${logUsers[user].passwordVariable}`),
    '',
  ].join('\n');
}
