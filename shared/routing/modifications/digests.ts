import { hash } from 'node:crypto';

export function sha256(text: string): string {
  return hash('sha256', text, 'hex');
}

export function md5(text: string): string {
  return hash('md5', text, 'hex');
}

/** A modification of a text; undefined leaves the value out. */
export type ChangeText = (text: string, salt: string) => string | undefined;

/**
 * The digest of the salt and the unchanged text. Empty text gets no hash, because all empty values would share that
 * hash.
 */
export function hashed(digest: (text: string) => string): ChangeText {
  return (text, salt) => (text === '' ? undefined : digest(salt + text));
}

/**
 * SHA-256 of the salt and the normalised text; undefined if the text does not fit the modification. A value that is
 * already a SHA-256 counts as normalised, and is hashed again only with a salt.
 */
export function hashedAs(normalise: (text: string) => string | undefined): ChangeText {
  return (text, salt) => {
    const digest = text.trim().toLowerCase();
    if (/^[0-9a-f]{64}$/.test(digest)) return salt === '' ? digest : sha256(salt + digest);
    const normalised = normalise(text);
    return normalised === undefined || normalised === '' ? undefined : sha256(salt + normalised);
  };
}
