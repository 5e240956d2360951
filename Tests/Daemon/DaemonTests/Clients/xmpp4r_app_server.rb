# An app server with xmpp4r 0.5.6.
require "json"
require "xmpp4r"

# xmpp4r makes REXML's readers report position 0 always; the REXML of Ruby's security updates (3.3) seeks back from there and
# reads no text. An app server with such a Ruby needs this line with any XMPP server.
REXML::IOSource.remove_method(:position) if REXML::IOSource.method_defined?(:position, false)

$stdout.sync = true
$lock = Mutex.new

def emit(event, **facts)
  $lock.synchronize { puts JSON.generate({event: event, **facts}) }
end

port, sender = ARGV
key = $stdin.gets.chomp
client = Jabber::Client.new(Jabber::JID.new("#{sender}@gcm.googleapis.com"))
client.use_ssl = true
client.allow_tls = false
client.connect("127.0.0.1", port.to_i)
begin
  client.auth(key)
rescue Jabber::ClientAuthenticationFailure
  emit("refused")
  exit
end
client.on_exception { |_, _, place| emit("closed") if place == :disconnected }
client.add_message_callback do |message|
  gcm = message.elements.to_a.find { |element| element.name == "gcm" }
  emit("message", type: message.type, json: gcm && JSON.parse(gcm.text))
end
emit("connected", jid: client.jid.to_s)
while (line = $stdin.gets)
  command = JSON.parse(line)
  next unless command["do"] == "send"
  text = REXML::Text.normalize(JSON.generate(command["json"]))
  client.send("<message id=''><gcm xmlns='google:mobile:data'>#{text}</gcm></message>")
end
client.close
