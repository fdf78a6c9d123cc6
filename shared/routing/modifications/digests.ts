import { hash } from 'node:crypto';

export function sha256(text: string): string {
  return hash('sha256', text, 'hex');
}

export function md5(text: string): string {
  return hash('md5', text, 'hex');
}

/** A modification of a text; undefined leaves the value out. */
export type ChangeText = (text: string, salt: string) => string | undefined;

/** SHA-256 or MD5 of the text as it is, the salt before it. Empty text has no hash: every empty value would share it. */
export function hashed(digest: (text: string) => string): ChangeText {
  return (text, salt) => (text === '' ? undefined : digest(salt + text));
}

/**
 * SHA-256 of the normalised text, the salt before it; nothing where the text is not what the modification is for.
 * A value that arrives as a SHA-256 already is taken as normalised: it is not hashed twice, unless there is a salt.
 */
export function hashedAs(normalise: (text: string) => string | undefined): ChangeText {
  return (text, salt) => {
    const digest = text.trim().toLowerCase();
    if (/^[0-9a-f]{64}$/.test(digest)) return salt === '' ? digest : sha256(salt + digest);
    const normalised = normalise(text);
    return normalised === undefined || normalised === '' ? undefined : sha256(salt + normalised);
  };
}
