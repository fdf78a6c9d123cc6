import { logAccount, logUsers } from './log-users.ts';
import type { LogUser, LogUserName } from './log-users.ts';

/** Returns the text of a user's password in a configuration. */
type PasswordOf = (user: LogUserName) => string;

const users = Object.entries(logUsers) as readonly (readonly [LogUserName, LogUser])[];

/**
 * The block `accounts` of a nats-server's configuration: one account with the streams and the pipelines, and one for
 * each other service, which imports the subjects that the service may use.
 */
export function renderAccounts(passwordOf: PasswordOf): string {
  const names = [...new Set(users.map(([, { account }]) => account))].toSorted();
  return ['accounts {', ...names.flatMap((name) => renderAccount(name, passwordOf)), '}'].join('\n');
}

function renderAccount(account: string, passwordOf: PasswordOf): string[] {
  const members = users.filter(([, user]) => user.account === account);
  return [
    `  ${account}: {`,
    '    users: [',
    ...members.flatMap(([name, user]) => renderUser(user, passwordOf(name))),
    '    ]',
    ...(account === logAccount ? renderExports() : renderImports(members.map(([, user]) => user))),
    '  }',
  ];
}

const guests = users.flatMap(([, { account, rights }]) => (account === logAccount ? [] : [rights]));
const publishedBy = (rights: LogUser['rights']): readonly string[] => rights?.publish ?? [];
const subscribedBy = (rights: LogUser['rights']): readonly string[] => rights?.subscribe ?? [];

function renderExports(): string[] {
  const services = [...new Set(guests.flatMap(publishedBy))].toSorted();
  return [
    '    jetstream: enabled',
    '    exports: [',
    ...services.map((subject) => `      { service: ${quote(subject)}${severalAnswers(subject)} }`),
    // Inboxes that receive the messages of the other accounts' consumers.
    ...guests.flatMap(subscribedBy).map((subject) => `      { stream: ${quote(subject)} }`),
    '    ]',
  ];
}

/** How long the server waits for the answers to a pull; must be longer than any pull lasts. */
const pullThreshold = '20s';

/** Export options for a subject with several answers: a pull has one for every message. */
const severalAnswers = (subject: string): string =>
  subject.startsWith('$JS.API.CONSUMER.MSG.NEXT.') ? `, response: stream, threshold: ${quote(pullThreshold)}` : '';

function renderImports(members: readonly LogUser[]): string[] {
  const imported = (kind: string, subject: string): string =>
    `      { ${kind}: { account: ${logAccount}, subject: ${quote(subject)} } }`;
  return [
    '    imports: [',
    ...members.flatMap(({ rights }) => publishedBy(rights)).map((subject) => imported('service', subject)),
    ...members.flatMap(({ rights }) => subscribedBy(rights)).map((subject) => imported('stream', subject)),
    '    ]',
  ];
}

/**
 * All users in one account, for logs that began without accounts: there a service can make the log store an answer in
 * any stream.
 */
export function renderUsers(passwordOf: PasswordOf): string {
  const lines = users.flatMap(([name, user]) => renderUser(user, passwordOf(name)));
  return ['authorization {', '  users: [', ...lines, '  ]', '}'].join('\n');
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

/** Quotes a text. A quoted password may begin with any character. */
export const quote = (text: string): string => JSON.stringify(text);

const passwordVariable: PasswordOf = (user) => `$${logUsers[user].passwordVariable}`;
const passwordsComment = [
  '# Passwords come from the environment of nats-server. They begin with a letter, because nats-server reads some words that',
  '# begin with a digit as numbers.',
];

/** The accounts file that compose and bare servers include: passwords come from the server's environment. */
export function accountsFile(): string {
  return [
    '# Made from shared/nats/users/log-users.ts by `npm run generate`: the users of the log and their rights.',
    ...passwordsComment,
    renderAccounts(passwordVariable),
    '',
  ].join('\n');
}

/** The users file for logs with all users in one account. */
export function usersFile(): string {
  return [
    '# Made from shared/nats/users/log-users.ts by `npm run generate`: the users of a log that began without accounts.',
    '# Move it to accounts.conf (deploy/runbook/tls-and-authentication.md): here a compromised service can make the log',
    '# store an answer in any stream.',
    ...passwordsComment,
    renderUsers(passwordVariable),
    '',
  ].join('\n');
}
