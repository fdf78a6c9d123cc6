const untrusted = new Set([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_SIGNATURE_FAILURE',
]);

/**
 * Why a TLS connection failed, with the variables to check; undefined if TLS is not the cause. `code` and `message` are
 * from Node's error; `prefix` begins the names of the variables, such as `NATS`.
 */
export function tlsFailure(code: string, message: string, prefix: string): string | undefined {
  if (untrusted.has(code)) return `the certificate of the server is not signed by an authority in ${prefix}_CA`;
  if (code === 'CERT_HAS_EXPIRED') return 'the certificate of the server has expired';
  if (code === 'CERT_NOT_YET_VALID') return 'the certificate of the server is not valid yet';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'the certificate of the server is for another name';
  if (
    /alert (certificate|unknown ca|bad certificate|handshake|decrypt)|alert number (40|42|45|46|48|51|116)/i.test(
      message,
    )
  ) {
    return `the server does not accept the client certificate: check ${prefix}_CERT and ${prefix}_KEY`;
  }
  if (code.startsWith('ERR_OSSL')) return `${prefix}_CA, ${prefix}_CERT or ${prefix}_KEY cannot be used`;
  return undefined;
}
