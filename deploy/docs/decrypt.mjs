import { constants, createDecipheriv, privateDecrypt } from 'node:crypto';

/** `property` is the name that the mapping gives the value; `accountId` and `destinationId` are those of Sluice. */
export function decrypt(value, { privateKey, accountId, destinationId, property }) {
  const [format, , wrapped, nonce, encrypted, tag] = value.split('.');
  if (format !== 'sluice1') throw new Error(`the format ${format} is not known`);
  const bytes = (text) => Buffer.from(text, 'base64url');
  const padding = constants.RSA_PKCS1_OAEP_PADDING;
  const key = privateDecrypt({ key: privateKey, padding, oaepHash: 'sha256' }, bytes(wrapped));
  const decipher = createDecipheriv('aes-256-gcm', key, bytes(nonce));
  decipher.setAAD(Buffer.from(`${accountId}\n${destinationId}\n${property}`)).setAuthTag(bytes(tag));
  return JSON.parse(Buffer.concat([decipher.update(bytes(encrypted)), decipher.final()]).toString('utf8'));
}
