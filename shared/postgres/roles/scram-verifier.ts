import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';

const iterations = 4_096;
const saltBytes = 16;
const keyBytes = 32;

/**
 * The verifier that PostgreSQL stores for a password (RFC 5803). Sent instead of the password, which thus appears in no
 * statement and no log.
 */
export function scramVerifier(password: string, salt: Buffer = randomBytes(saltBytes)): string {
  const salted = pbkdf2Sync(password.normalize('NFKC'), salt, iterations, keyBytes, 'sha256');
  const keyFor = (what: string): Buffer => createHmac('sha256', salted).update(what).digest();
  const storedKey = createHash('sha256').update(keyFor('Client Key')).digest('base64');
  const serverKey = keyFor('Server Key').toString('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}
