import { googleConsentTypes } from '../../contracts/events/consent-words.ts';
import type { ConsentMode, GoogleConsentType } from '../../contracts/events/consent-words.ts';
import type { EventHead } from '../../contracts/events/resolved-event.ts';
import type { Subject } from '../values/property-path.ts';
import { compilePurposes } from './compile-consent.ts';
import type { ConsentNow, ConsentSetting } from './compile-consent.ts';

export type FindConsentMode = (head: EventHead, subject: Subject, now: ConsentNow) => ConsentMode;

/**
 * Compiles the purposes' answers for the Google consent types that a destination passes on, whether it serves the
 * purposes or not. All purposes of a type must be granted. Undefined if no purpose has one of the types.
 */
export function compileConsentMode(
  settings: readonly ConsentSetting[],
  types: readonly GoogleConsentType[],
): FindConsentMode | undefined {
  const named = types.flatMap((type) => {
    const ask = compilePurposes(settings.filter(({ signals }) => signals?.googleConsentMode?.includes(type) === true));
    return ask === undefined ? [] : [{ type, ask }];
  });
  if (named.length === 0) return undefined;
  return (head, subject, now) => {
    // `compileConsent` has already counted unreadable strings.
    const asked: ConsentNow = {
      lastWords: (of) => now.lastWords(of),
      regionOf: (address) => now.regionOf(address),
      onUnreadable: () => undefined,
    };
    return Object.fromEntries(
      named.map(({ type, ask }) => {
        const isGranted = ask(head, subject, asked).answers.every((one) => one.isGranted);
        return [type, isGranted ? 'GRANTED' : 'DENIED'] as const;
      }),
    );
  };
}

export function isSameMode(one: ConsentMode | undefined, other: ConsentMode | undefined): boolean {
  return googleConsentTypes.every((type) => one?.[type] === other?.[type]);
}
