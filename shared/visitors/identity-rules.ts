import { readIdentitySettings } from '../contracts/config/identity-settings.ts';
import type { IdentitySettings } from '../contracts/config/identity-settings.ts';
import { bareIdentifier } from '../contracts/events/placeholder-identifier.ts';

/** An account's identity settings, compiled. */
export type IdentityRules = Omit<IdentitySettings, 'blockedValues'> & {
  /** Whether a text is one of the account's own blocked values. */
  isBlocked(text: string): boolean;
};

export const defaultIdentityRules: IdentityRules = compile(readIdentitySettings(undefined));

/** Compiles published settings; returns `defaultIdentityRules` itself if there are none. */
export function compileIdentityRules(published: unknown): IdentityRules {
  return published === undefined ? defaultIdentityRules : compile(readIdentitySettings(published));
}

function compile({ blockedValues, ...others }: IdentitySettings): IdentityRules {
  const blocked = new Set(blockedValues.map(bareIdentifier));
  return { ...others, isBlocked: blocked.size === 0 ? () => false : (text) => blocked.has(bareIdentifier(text)) };
}
