import { expect, test } from 'vitest';
import { scramVerifier } from './scram-verifier.ts';

test('scram verifier: equals the verifier that PostgreSQL makes from the password in RFC 7677', () => {
  const salt = Buffer.from('W22ZaJ0SNY7soEsUEjb6gQ==', 'base64');
  expect(scramVerifier('pencil', salt)).toBe(
    'SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=',
  );
  expect(scramVerifier('pencil')).not.toBe(scramVerifier('pencil'));
});
