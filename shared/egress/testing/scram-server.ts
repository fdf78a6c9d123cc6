import { createHmac, hash, pbkdf2Sync, randomBytes, timingSafeEqual } from 'node:crypto';

export type ScramAccount = {
  readonly user: string;
  readonly password: string;
  /** The password with which the server proves its identity; undefined: `password`. */
  readonly ownPassword?: string | undefined;
};

type ScramOptions = {
  readonly digest: 'sha256' | 'sha512';
  /** Random if undefined, as is `nonce`. */
  readonly salt?: Buffer;
  readonly nonce?: string;
  /** 4,096 if undefined. */
  readonly iterations?: number | undefined;
};

/**
 * The server's side of SCRAM for one login (RFC 5802 and 7677). The returned function answers the client's two
 * messages in turn; it returns undefined to refuse the login.
 */
export function createScramServer(account: ScramAccount, options: ScramOptions) {
  const { digest, salt = randomBytes(16), nonce, iterations = 4_096 } = options;
  const saltedOf = (password: string): Buffer =>
    pbkdf2Sync(password, salt, iterations, digest === 'sha256' ? 32 : 64, digest);
  const salted = saltedOf(account.password);
  const saltedOwn = account.ownPassword === undefined ? salted : saltedOf(account.ownPassword);
  const hmac = (key: Buffer, text: string): Buffer => createHmac(digest, key).update(text).digest();
  let first: { readonly bare: string; readonly reply: string; readonly nonce: string } | undefined;
  return (message: string): string | undefined => {
    if (first === undefined) {
      const bare = message.replace(/^n,,/, '');
      const members = membersOf(bare);
      if (!message.startsWith('n,,') || members.get('n') !== account.user) return undefined;
      const joined = `${members.get('r') ?? ''}${nonce ?? randomBytes(18).toString('base64')}`;
      const reply = `r=${joined},s=${salt.toString('base64')},i=${iterations}`;
      first = { bare, reply, nonce: joined };
      return reply;
    }
    const members = membersOf(message);
    const proof = Buffer.from(members.get('p') ?? '', 'base64');
    const signed = `${first.bare},${first.reply},${message.replace(/,p=[^,]*$/, '')}`;
    const clientKey = hmac(salted, 'Client Key');
    const signature = hmac(hash(digest, clientKey, 'buffer'), signed);
    const expected = clientKey.map((byte, index) => byte ^ (signature[index] ?? 0));
    const isKnown = members.get('c') === 'biws' && members.get('r') === first.nonce && proof.length === expected.length;
    if (!isKnown || !timingSafeEqual(proof, expected)) return undefined;
    return `v=${hmac(hmac(saltedOwn, 'Server Key'), signed).toString('base64')}`;
  };
}

const membersOf = (message: string): ReadonlyMap<string, string> =>
  new Map(message.split(',').map((member) => [member.slice(0, 1), member.slice(2)] as const));
