/** Ids in the control plane's format: PostgreSQL accepts only UUIDs for accounts and visitors. */
const idOf = (kind: string, index: number): string =>
  `${kind}0000000-0000-4000-8000-${String(index).padStart(12, '0')}`;

export const accountIdOf = (index: number): string => idOf('a', index);
export const sourceIdOf = (accountId: string): string => accountId.replace(/^a/, 'b');
export const destinationIdOf = (index: number): string => idOf('d', index);
export const visitorIdOf = (index: number): string => idOf('e', index);

/** The account in scenarios that need a single account. */
export const benchAccountId = accountIdOf(0);
