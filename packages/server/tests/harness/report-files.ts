// Files of DMARC and TLS reports.
import { deflateRawSync } from 'node:zlib'

/** A DMARC report with one source that passes and one that fails. `rows` are further records. */
export const dmarcXml = (domain: string, id = '1', rows = '') => `<?xml version="1.0" encoding="UTF-8" ?>
<feedback><report_metadata><org_name>reporter.example</org_name><email>noreply@reporter.example</email><report_id>${id}</report_id>
<date_range><begin>1767225600</begin><end>1767311999</end></date_range></report_metadata>
<policy_published><domain>${domain}</domain><adkim>r</adkim><aspf>r</aspf><p>none</p><sp>none</sp><pct>100</pct></policy_published>
${rows}<record><row><source_ip>203.0.113.7</source_ip><count>12</count><policy_evaluated><disposition>none</disposition><dkim>pass</dkim><spf>pass</spf></policy_evaluated></row>
<identifiers><header_from>${domain}</header_from></identifiers></record>
<record><row><source_ip>198.51.100.9</source_ip><count>3</count><policy_evaluated><disposition>quarantine</disposition><dkim>fail</dkim><spf>fail</spf></policy_evaluated></row>
<identifiers><header_from>${domain}</header_from></identifiers></record></feedback>`

/** A TLS report with three kinds of sessions. */
export const tlsJson = (domain: string) =>
  JSON.stringify({
    'organization-name': 'Reporter',
    'date-range': { 'start-datetime': '2026-01-01T00:00:00Z', 'end-datetime': '2026-01-01T23:59:59Z' },
    'contact-info': 'tls@reporter.example',
    'report-id': 'tls-1',
    policies: [
      {
        policy: { 'policy-type': 'sts', 'policy-domain': domain },
        summary: { 'total-successful-session-count': 100, 'total-failure-session-count': 5 },
        'failure-details': [{ 'result-type': 'certificate-expired', 'sending-mta-ip': '203.0.113.7', 'failed-session-count': 4 }],
      },
    ],
  })

/** A ZIP archive with one file. `declared` is the unpacked size in its directory. */
export function zipOf(name: string, content: Buffer, declared = content.length): Buffer {
  const data = deflateRawSync(content)
  const crc = Buffer.alloc(4)
  const sizes = Buffer.alloc(8)
  sizes.writeUInt32LE(data.length)
  sizes.writeUInt32LE(declared, 4)
  const file = Buffer.from(name)
  const lengths = Buffer.from([file.length, 0, 0, 0])
  const common = Buffer.concat([Buffer.from([20, 0, 0, 0, 8, 0, 0, 0, 0, 0]), crc, sizes, lengths])
  const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, file, data])
  const central = Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), common, Buffer.alloc(14), file])
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06')
  end.writeUInt16LE(1, 8)
  end.writeUInt16LE(1, 10)
  end.writeUInt32LE(central.length, 12)
  end.writeUInt32LE(local.length, 16)
  return Buffer.concat([local, central, end])
}
