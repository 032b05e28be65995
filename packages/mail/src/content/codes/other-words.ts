// Phrases beside numbers that are not codes, by language. In lower case, with dashes as spaces.
import { each, list } from './phrase-lists.ts'

export const other = [
  ...each(
    'promo|promotion|promotional|discount|coupon|voucher|gift|gift card|referral|referrer|invite|invitation|offer|reward|zip|postal|post|area|country|dial|dialing|dialling|error|status|response|exit|return|source|qr|bar|dress|building|tax|swift|sort|bank|branch|airport|product|item|style|color|colour|stock|reference|booking|reservation|tracking|customer|class|course|hs|morse|penal|civil|vat|pickup|pick up|collection|locker|delivery|door|gate|batch|lot|part|job|asset|supplier|vendor|menu|stop|station|zone|wifi|wi fi|wireless|voicemail|trip|film|badge|order|invoice|conversion|http|currency|language|department|project|event|group|creator|partner|affiliate|license|licence|campaign|bonus|friend|savings|shopping|loyalty|fault|reason|merchant|training|entry|garage|lockbox|key|parking',
    'code|codes|pin|password',
  ),
  ...list(
    'order|orders|order number|invoice|receipt|tracking|tracking number|shipment|parcel|ticket|case|claim|reference|reference number|ref|confirmation number|account number|account no|customer number|customer id|member id|membership number|policy|booking|reservation|itinerary|flight|transaction id|request id|serial|serial number|model|part number|phone|telephone|tel|fax|call|mobile number|call us|zip|po box|p.o. box|suite|street|avenue|isbn|version|build|ending in|ending|ends in|last four|last 4|total|amount|balance|year|copyright|license key|licence key|product key|extension|ext|room|apartment|apt|issue|meeting id|webinar id|conference id|participant|employee id|student id|patient|postcode|barcode|quote|purchase order|estimate|batch|lot|sku|item|qty|quantity|points|followers|views|code of|code review|source code|code base|code freeze|dress code|pin number for the door|valid until|expires|expires at|expires on|as of|since|code editor|pull request|commit|revision|seq|queue|position|unit|floor|gate|seat|row|terminal|bank account|iban|bic|meter|reading|odometer|weight|height|population|price|more than|up to|nearly|approximately',
  ),
  ...list(
    'gutscheincode|rabattcode|aktionscode|gutschein|bestellnummer|bestellung|rechnungsnummer|rechnung|kundennummer|kunden nr|sendungsnummer|sendung|sendungsverfolgung|auftragsnummer|auftrag|vorgangsnummer|vorgang|ticketnummer|postleitzahl|plz|bankleitzahl|blz|vertragsnummer|vertrag|referenznummer|referenz|fehlercode|buchungscode|buchungsnummer|buchung|artikelnummer|artikel|telefon|mitgliedsnummer|abholcode|paket|betrag|seit|bis|konto|endet auf|hrb|ust id|steuernummer|zählerstand|quellcode|jahr|reservierung|qr code',
  ),
  ...list(
    "code promo|code promotionnel|code postal|code de réduction|code avantage|code cadeau|code parrain|code de parrainage|code d'erreur|code client|code de retrait|code barres|commande|facture|numéro de suivi|suivi|colis|référence|réservation|dossier|téléphone|tél|montant|solde|depuis|jusqu'au|se terminant par|siret|siren|rcs|n° client|année|code de la route|code source",
  ),
  ...list(
    'código postal|código promocional|código de descuento|código de desconto|código de error|código de erro|código de reserva|código de barras|código de referido|código de cliente|código de rastreo|código de rastreio|código de rastreamento|cupón|cupom|pedido|factura|fatura|nota fiscal|número de seguimiento|seguimiento|reserva|referencia|referência|expediente|cep|encomenda|protocolo|envío|envio|importe|monto|valor|saldo|teléfono|telefone|tel|desde|hasta|até|terminada en|final|cpf|cnpj|código de retiro|año|ano',
  ),
  ...list(
    'codice postale|codice sconto|codice promozionale|codice fiscale|codice prenotazione|codice cliente|codice errore|ordine|fattura|spedizione|importo|kortingscode|postcode|bestelling|bestelnummer|factuur|track & trace|kod pocztowy|kod rabatowy|kod promocyjny|numer zamówienia|zamówienie|zamówienia|faktura|faktury|przesyłka|przesyłki|psč|objednávka|objednávky|rabattkod|postnummer|ordernummer|rabatkode|rabattkode|ordre|indirim kodu|posta kodu|promosyon kodu|sipariş|sipariş no|fatura no|kargo|takip no|kode pos|kode promo|kode voucher|nomor pesanan|pesanan|mã giảm giá|mã đơn hàng|đơn hàng|mã vận đơn',
  ),
  ...list(
    'промокод|промокода|код скидки|код ошибки|заказ|заказа|заказу|заказ №|номер заказа|почтовый индекс|индекс|трек номер|отправление|отправления|счет|счёт|счета|накладная|накладной|договор|договора|бронирование|бронирования|код получения|телефон|тел|сумма|баланс|замовлення|посилка|год|года|инн|огрн|карта|карты',
  ),
  ...list(
    'رقم الطلب|الطلب|فاتورة|رمز بريدي|الرمز البريدي|كود الخصم|رمز الخصم|קוד קופון|הזמנה|מספר הזמנה|ऑर्डर|κωδικός παραγγελίας|παραγγελία|κωδικός έκπτωσης',
  ),
]

export const otherJoined = list(
  'クーポンコード|割引コード|プロモーションコード|キャンペーンコード|紹介コード|招待コード|郵便番号|注文番号|ご注文|追跡番号|伝票番号|お問い合わせ番号|電話番号|会員番号|予約番号|請求書|請求番号|エラーコード|商品コード|受付番号|口座番号|優惠码|优惠码|優惠碼|折扣码|折扣碼|邀请码|邀請碼|订单号|訂單編號|訂單|订单|运单号|快递单号|取件码|取货码|邮编|郵遞區號|金额|金額|余额|餘額|尾号|尾號|客服电话|客服電話|电话|電話|주문번호|주문 번호|송장번호|운송장|우편번호|쿠폰|할인코드|할인 코드|초대 코드|예약번호|고객번호|หมายเลขคำสั่งซื้อ|คำสั่งซื้อ|โค้ดส่วนลด',
)
